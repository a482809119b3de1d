import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { gatewayAddress } from "../../../../runtime/cli/gateways/gateway-address.ts";
import { projectHead } from "../../../../runtime/cli/project/project-head.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function headOf(yaml: string, environment: Readonly<Record<string, string>> = {}, envFile?: string) {
  await using temp = await tempDirectory("project-head");
  await writeFile(join(temp.path, "weir.yaml"), yaml);
  const environmentFiles = envFile === undefined ? undefined : ["an.env"];
  if (envFile !== undefined) await writeFile(join(temp.path, "an.env"), envFile);
  const { gateway, namespace } = (await projectHead(temp.path, { environment, environmentFiles })) ?? {};
  return { gateway, namespace };
}

test.each([
  ["gateway: http://a\nnamespace: shop\nfunctions: {}", { gateway: "http://a", namespace: "shop" }],
  ["version: 7\nnamspace: x\ngateway: http://a", { gateway: "http://a", namespace: undefined }],
  ["gateway: http://a\nfunctions: [", { gateway: "http://a", namespace: undefined }],
  ["gateway: [x]\nnamespace: 1", { gateway: undefined, namespace: undefined }],
  ["gateway: http://${HOST}:${PORT:-80}", { gateway: "http://h:80", namespace: undefined }],
  ["", { gateway: undefined, namespace: undefined }],
])("%j has the head %j", async (yaml, head) => {
  expect(await headOf(yaml, { HOST: "h" })).toEqual(head);
});

test("variables come from --env-file, too, which is read only for them", async () => {
  const yaml = "gateway: http://${HOST}:${PORT}\nnamespace: ${NS:-none}";
  expect(await headOf(yaml, { HOST: "h" }, "HOST=other\nPORT=1\nNS=shop")).toEqual({
    gateway: "http://h:1",
    namespace: "shop",
  });
  await expect(headOf(yaml, {}, "PORT")).rejects.toThrow('Cannot read "an.env": line 1 is not KEY=value');
  expect((await headOf("gateway: http://a", {}, "PORT")).gateway).toBe("http://a");
});

test("a gateway whose variable is not set is refused where it is used", async () => {
  const { gateway } = await headOf("gateway: https://${HOST}");
  expect(() => gatewayAddress(gateway ?? "", "weir.yaml")).toThrow(
    'Cannot use gateway "https://${HOST}" of weir.yaml: its variable is not set',
  );
});

test.each([
  ["x".repeat(262_145), "it is over the limit of 262144 bytes"],
  ["[".repeat(40), "it is not YAML"],
  ["- [", "it is not YAML"],
])("a file of which nothing can be read is refused, as its gateway is not known", async (yaml, state) => {
  await expect(headOf(yaml)).rejects.toMatchObject({ exit: 2, message: `Cannot read "weir.yaml": ${state}` });
});

test("it is found above, and a folder of that name is refused", async () => {
  await using temp = await tempDirectory("project-head");
  const inner = join(temp.path, "a", "b");
  await mkdir(inner, { recursive: true });
  expect(await projectHead(inner, { environment: {} })).toBeUndefined();
  await writeFile(join(temp.path, "weir.yaml"), "namespace: shop");
  expect(await projectHead(inner, { environment: {} })).toMatchObject({
    file: join(temp.path, "weir.yaml"),
    namespace: "shop",
  });
  await mkdir(join(temp.path, "a", "weir.yaml"));
  await expect(projectHead(inner, { environment: {} })).rejects.toThrow('Cannot read "../weir.yaml": it is not a file');
});
