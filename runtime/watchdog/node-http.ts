// A named import reads every property of the module; its `WebSocket` loads a whole client, a third of the start time.
/** The module `node:http`. */
export const nodeHttp = process.getBuiltinModule("node:http");
