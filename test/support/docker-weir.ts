import { openDockerEngine, type TestDockerEngine } from "./shared-docker-engine.ts";
import { tempDirectory } from "./temp-directory.ts";
import { startWeir, type WeirProcess } from "./weir-process.ts";

/** Weir with the provider `docker`, on the container engine of the suite. */
export interface DockerWeir extends AsyncDisposable {
  readonly engine: TestDockerEngine;
  readonly weir: WeirProcess;
}

/** Starts one, its data in a temporary directory; disposed of, it passes the engine on clean. */
export async function openDockerWeir(name: string): Promise<DockerWeir> {
  await using stack = new AsyncDisposableStack();
  const engine = await openDockerEngine();
  stack.defer(() => engine.close());
  const directory = stack.use(await tempDirectory(name));
  const flags = ["--provider", "docker", "--docker-socket", engine.socket];
  const weir = await startWeir({ data: directory.path, flags, within: 60_000 });
  stack.defer(() => weir.stop());
  const opened = stack.move();
  return { engine, weir, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
