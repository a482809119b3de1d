/** Version of this release; the same as in package.json (a test compares them). */
export const release = "0.1.0";

/** Version of the HTTP API: `X-Api-Version`, `info.version` of the OpenAPI document, `apiVersion`. */
export const apiVersion = "1.0";

/** Name of the image with the watchdog and Node.js that functions can be made FROM; `npm run base-image` makes it. */
export const baseImageName = `weir-base:${release}`;

/** Name of the same image with Python as well; `npm run base-image -- --variant python` makes it. */
export const pythonBaseImageName = `weir-base-python:${release}`;

/** Name of the image with the processes of the platform; `npm run images` makes it. */
export const weirImageName = `weir:${release}`;

/** Version of nats-server that is installed on a machine that has none, and that is in the image for clusters. */
export const natsVersion = "2.15.1";

/** Name of the image with nats-server; `npm run images` makes it. A release of Weir with the same server reuses it. */
export const natsImageName = `weir-nats:${natsVersion}`;

/** User and group that the processes in both images run as. */
export const imageUser = 65_532;
