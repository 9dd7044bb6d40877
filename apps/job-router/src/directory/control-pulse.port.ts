/** Signs of life of the control plane. */
export abstract class ControlPulse {
  /** The last one, Unix ms by this router's clock; before the first, when this router began to listen. */
  abstract readonly heardAtMs: number;
}
