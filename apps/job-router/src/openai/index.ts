export { composeOpenAi } from './compose-openai.js';
export { OpenAiController } from './openai.controller.js';
