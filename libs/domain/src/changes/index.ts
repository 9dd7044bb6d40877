export { fieldChanges, type FieldChange } from './field-changes.js';
export { isSecretName, MASK } from './secret-name.js';
