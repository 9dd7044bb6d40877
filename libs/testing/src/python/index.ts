export { PYTHON_SETUP_MS, pythonWith } from './python-with.js';
