// An import by name reads every property of the module, and the one for WebSocket loads a whole client: a third of a start.
/** The module `node:http`. */
export const nodeHttp = process.getBuiltinModule("node:http");
