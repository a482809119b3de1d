import { expect, test } from "vitest";

import { platformCommand } from "../../../../runtime/cli/dev/gateway/platform-command.ts";

const settings = { data: "/p/.weir", host: "127.0.0.1", port: 8080, provider: undefined } as const;
const flags =
  "--data /p/.weir --host 127.0.0.1 --port 8080 --admin-port 0 --console-port 0 --log-level warn --log-format text".split(
    " ",
  );
const place = { environment: { PATH: "/bin", WEIR_TOKEN: "secret", HOME: "/h" }, node: "/bin/node" };

test("a package is run by this Node.js, without the gateway's token", () => {
  const program = { kind: "package", directory: "/n/weir-platform", installed: true } as const;
  expect(platformCommand(program, { ...settings, provider: "local" }, place)).toEqual({
    command: "/bin/node",
    args: ["/n/weir-platform/weir-platform.js", ...flags, "--provider", "local"],
    directory: "/n/weir-platform",
    environment: { PATH: "/bin", HOME: "/h", history_bodies: "1h", access_log: "true" },
  });
});

test("a checkout is run by the Node.js of its packages, and keeps the packages that it has", () => {
  const program = { kind: "checkout", directory: "/weir", installed: true } as const;
  expect(platformCommand(program, settings, place)).toEqual({
    command: "node",
    args: ["runtime/host/main.ts", ...flags],
    directory: "/weir",
    environment: {
      PATH: "/weir/node_modules/.bin:/bin",
      HOME: "/h",
      history_bodies: "1h",
      access_log: "true",
      NODE_COMPILE_CACHE: "node_modules/.cache/compiled",
    },
  });
});

test("a checkout without packages installs them", () => {
  const program = { kind: "checkout", directory: "/weir", installed: false } as const;
  const { args, command } = platformCommand(program, settings, place);
  expect([command, ...args]).toEqual(["sh", "scripts/run", "--production", "runtime/host/main.ts", ...flags]);
});

test("requests are kept for as long as whoever starts it says", () => {
  const program = { kind: "package", directory: "/n/weir-platform", installed: true } as const;
  const environment = { ...place.environment, history_bodies: "24h" };
  expect(platformCommand(program, settings, { ...place, environment }).environment["history_bodies"]).toBe("24h");
});
