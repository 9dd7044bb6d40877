export { AFTER_STEP } from './after-step.js';
export { ROTATIONS, ROTATION_STEPS, type RotationName, type RotationStep } from './rotation-steps.js';
export { runRotation, type RotationOutcome } from './run-rotation.js';
