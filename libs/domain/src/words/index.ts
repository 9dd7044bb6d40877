export { closestWord } from './closest-word.js';
