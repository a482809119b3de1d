import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";

/** What the first page of the console watches. */
const on = "functions,queues,doctor";

/** Opens that many pages, which read whatever is sent; resolves when each has begun. Closing them ends their streams. */
export async function openPages(port: number, authorization: string, count: number): Promise<Disposable> {
  const sent: ClientRequest[] = [];
  const open = async (): Promise<void> => {
    const path = `/system/watch?on=${on}`;
    const page = request({ port, host: "127.0.0.1", path, headers: { authorization }, agent: false });
    sent.push(page);
    page.on("error", () => {});
    page.end();
    const [response]: IncomingMessage[] = await once(page, "response");
    if (response?.statusCode !== 200) throw new Error(`the gateway replied ${response?.statusCode} to a page`);
    response.on("error", () => {});
    await new Promise<void>((resolve) => {
      let text = "";
      const listen = (chunk: Buffer): void => {
        text += chunk.toString("latin1");
        if (!text.includes('"more":false')) return;
        response.off("data", listen).resume();
        resolve();
      };
      response.on("data", listen);
    });
  };
  const close = (): void => {
    for (const page of sent) page.destroy();
  };
  try {
    await Promise.all(Array.from({ length: count }, open));
  } catch (err) {
    close();
    throw err;
  }
  return { [Symbol.dispose]: close };
}
