export { serveOpenApi } from './openapi-document.js';
