/** Stands for a value that nobody is shown. */
export const MASK = '***';

const SECRET_WORDS =
  /secret|token|passw(or)?d|passphrase|credential|private|(api|access|auth|encryption|signing)_?key|_key$|^key$/i;

/** Whether the name of a field or variable says that its value is a secret, as `DB_PASSWORD` or `apiKey` do. */
export const isSecretName = (name: string): boolean => SECRET_WORDS.test(name);
