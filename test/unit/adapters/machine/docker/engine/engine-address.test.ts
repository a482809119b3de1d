import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";

import { engineAddress } from "../../../../../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { engineAdvice } from "../../../../../../runtime/adapters/machine/docker/engine/engine-advice.ts";
import { EngineClient } from "../../../../../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { tempDirectory } from "../../../../../support/temp-directory.ts";

const standard = "/var/run/docker.sock";

test.each<[named: string | undefined, dockerHost: string | undefined, address: string]>([
  [undefined, undefined, standard],
  ["", "", standard],
  [undefined, "unix:///run/user/1000/docker.sock", "/run/user/1000/docker.sock"],
  [undefined, "tcp://127.0.0.1:2375", "tcp://127.0.0.1:2375"],
  [undefined, "tcp://[::1]:2375/", "tcp://[::1]:2375"],
  ["/tmp/x.sock", "tcp://127.0.0.1:2375", "/tmp/x.sock"],
  ["unix:///tmp/x.sock", undefined, "/tmp/x.sock"],
  ["tcp://localhost:2375", "ssh://somebody@host", "tcp://localhost:2375"],
])("%j with DOCKER_HOST %j is %s", (named, dockerHost, address) => {
  expect(engineAddress(named, dockerHost)).toBe(address);
});

test.each([
  "ssh://user@host",
  "npipe:////./pipe/docker_engine",
  "fd://",
  "http://127.0.0.1:2375",
  "tcp://127.0.0.1",
  "tcp://127.0.0.1:0",
  "tcp://127.0.0.1:70000",
  "tcp://127.0.0.1:2375/path",
  "docker.sock",
])("%s is refused, with its source and what is expected", (address) => {
  const expected = "expected a path, unix:// and a path such as unix:///var/run/docker.sock, or tcp://host:port";
  const refused = (source: string): string =>
    `Cannot use the container engine at "${address}" (${source}): ${expected}`;

  expect(() => engineAddress(undefined, address)).toThrow(refused("DOCKER_HOST"));
  expect(() => engineAddress(address, undefined)).toThrow(refused("docker_socket"));
});

test("for an unreachable engine the error says what to install or start", () => {
  expect(engineAdvice(standard, "ENOENT")).toBe(
    "install an engine (apt-get install docker.io) or start it (systemctl start docker), or choose --provider local",
  );
  expect(engineAdvice("/tmp/x.sock", "ECONNREFUSED")).toContain(
    "start it (systemctl start docker), or name another one",
  );
  expect(engineAdvice(standard, "EACCES")).toContain("member of the group");
  expect(engineAdvice(standard, "ECONNRESET")).toBeUndefined();
});

test("the client gives that error", async () => {
  await using directory = await tempDirectory("engine");
  const engine = new EngineClient(`${directory.path}/none.sock`);
  const error = await engine.ping().then(
    () => "it answered",
    (err: unknown) => String(err),
  );
  await engine.close();

  expect(error).toContain("Cannot reach the container engine at");
  expect(error).toContain("none.sock; install an engine (apt-get install docker.io)");
});

test("the client connects to tcp:// too", async () => {
  await using engine = await fakeEngine();
  const client = new EngineClient(`tcp://127.0.0.1:${engine.port}`);
  await client.ping();
  await client.close();

  expect(engine.paths).toEqual(["/_ping", "/version"]);
});

/** Replies to the first requests of a client. */
async function fakeEngine() {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    response.end(request.url === "/version" ? JSON.stringify({ ApiVersion: "1.43", MinAPIVersion: "1.24" }) : "OK");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    paths,
    port,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
