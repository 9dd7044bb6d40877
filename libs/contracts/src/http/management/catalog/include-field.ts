import { QueryListField } from '../../fields/query-field.js';

/** How a query asks for the availability of GPU types or CPU flavors. */
export const IncludeField = (): PropertyDecorator =>
  QueryListField({
    isOptional: true,
    choices: ['AVAILABILITY'],
    description: 'What to add, separated by commas. `AVAILABILITY` needs `product`.',
    example: ['AVAILABILITY'],
  });
