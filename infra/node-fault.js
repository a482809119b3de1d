const oldestNode = 24;

/**
 * Why the program cannot run on this version of Node.js; undefined when it can.
 *
 * @param {string} version as in `process.versions.node`
 * @returns {string | undefined}
 */
export function nodeFault(version) {
  if (Number(version.split(".")[0]) >= oldestNode) return undefined;
  return `Cannot run the program on Node.js ${version}: it needs ${oldestNode} or newer as "node" on PATH. One is in node_modules: PATH="$PWD/node_modules/.bin:$PATH" pulumi up`;
}
