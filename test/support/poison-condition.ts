/**
 * The import condition under which buffers that were given back are overwritten (`runtime/http1/release-buffer.ts`): tests
 * run with it, and all that they start.
 */
export const poisonCondition = "weir-poison";
