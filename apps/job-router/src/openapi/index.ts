export { DescribeOpenAi } from './describe-openai.decorator.js';
export { describeOpenAi } from './describe-openai.js';
export {
  DescribeBody,
  DescribeEndpointCall,
  DescribeIdempotencyKey,
  DescribeQueueCall,
  DescribeWait,
} from './describe-operation.decorator.js';
export { DescribeStatus } from './describe-status.decorator.js';
export { DescribeStream } from './describe-stream.decorator.js';
export { ERROR_SCHEMAS, jobProblemExample } from './error-schemas.js';
export { JOB_HEADERS } from './job-headers.js';
export { SENT_WEBHOOKS } from './sent-webhooks.js';
