/** Content types whose bodies are read, in whichever way their parameters are written. */
export const READ_JSON_TYPES = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i;
