import { eventually } from "../eventually.ts";
import type { ConsoleWeir } from "./console-weir.ts";
import type { Seeded } from "./page-cases.ts";

/** Answers at once, `/fail…` with 503 and `/slow…` after a minute; logs a coloured line with the id of the call. */
export const helloProgram = `require("node:http").createServer((q, r) => {
  q.resume();
  q.on("end", () => {
    console.error("\\u001b[31mred\\u001b[0m " + q.headers["x-call-id"]);
    if (q.url.startsWith("/fail")) r.statusCode = 503;
    const timer = setTimeout(() => r.end("hi"), q.url.startsWith("/slow") ? 60000 : 0);
    r.on("close", () => clearTimeout(timer));
  });
}).listen(process.env.PORT)`;

/** A function that is called, one call that is done and one that failed, a dead letter, a secret, a namespace. */
export async function seedWeir({ deploy, calls, api }: ConsoleWeir): Promise<Seeded> {
  await deploy({
    service: "hello",
    envProcess: `node -e '${helloProgram}'`,
    envVars: { mode: "http" },
    secrets: [],
    annotations: {
      "com.service.history.bodies": "1h",
      "com.service.retry.attempts": "1",
      "com.service.retry.min_wait": "100ms",
    },
  });
  const done = await calls.accepted("hello", { body: "hi" });
  const failed = await calls.accepted("hello", { tail: "/fail?x=1", body: "boom" });
  await calls.ended(done);
  await calls.ended(failed);
  const sent = await Promise.all([
    api("POST", "/system/secrets", { name: "api-key", value: "a value" }),
    api("POST", "/system/namespaces", { name: "dev", labels: { team: "blue" } }),
  ]);
  for (const response of sent) if (!response.ok) throw new Error(`Cannot seed Weir: ${await response.text()}`);
  const listed = async (): Promise<boolean> => {
    const { items } = (await (await api("GET", "/system/calls?state=failed")).json()) as {
      readonly items: readonly unknown[];
    };
    return items.length > 0;
  };
  await eventually(listed, { what: "the calls in the history" });
  return { done, failed };
}
