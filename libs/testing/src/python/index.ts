export { PYTHON_SETUP_MS, pythonWith, type PythonRequirement } from './python-with.js';
