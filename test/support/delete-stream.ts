import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { eventually } from "./eventually.ts";
import type { TestNatsServer } from "./nats-server.ts";

/**
 * Deletes a stream and its files. nats-server answers before it has removed them (2.15.1, on a busy disk): it renames
 * their directory, with a dot in front, and removes that. A stream of the same name that is created before the renaming
 * has the old messages again; one that is deleted before the removal keeps a part of its files for good.
 */
export async function deleteStream(
  { jsm }: NatsLink,
  { storeDirectory }: Pick<TestNatsServer, "storeDirectory">,
  stream: string,
): Promise<void> {
  // One that a test before left deleted is deleted.
  await jsm.streams.delete(stream).catch((err: unknown) => {
    if (!(err instanceof Error && /stream not found/.test(err.message))) throw err;
  });
  const isGone = async (): Promise<boolean> => {
    const entries = await readdir(join(storeDirectory, "jetstream"), { recursive: true });
    const directories = [stream, `.${stream}`].map((name) => join("streams", name));
    return !entries.some((entry) => directories.some((directory) => entry.endsWith(directory)));
  };
  await eventually(isGone, { what: `the files of ${stream} to be gone` });
}
