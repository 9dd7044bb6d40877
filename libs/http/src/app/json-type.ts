/** Content types whose bodies are read, in whichever way their parameters are written. */
export const JSON_TYPE = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i;
