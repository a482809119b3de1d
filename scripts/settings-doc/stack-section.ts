import { stackKeys, type StackKey } from "../../infra/stack-keys.ts";
import { tuningKeys } from "../../infra/manifests/read-platform.ts";
import type { Setting } from "../../runtime/settings/setting.ts";
import { code, defaultOf, kindOf, table } from "./setting-cells.ts";

const introduction = `
## Stack

The keys of a Pulumi stack besides the settings of the processes above, below \`weir:\`; \`npm run render\` accepts the same keys, except those for Pulumi
alone. \`pulumi config set --path weir:gateway.replicas 2\` sets one key of a group, \`--secret\` stores a value encrypted. \`Pulumi.yaml\` describes
all keys.

`;

const rules = `
These rules apply across keys:

- \`adminPassword\`, \`historyDatabase\`, the values of \`natsPasswords\`, \`natsTls.key\`, and \`kubeconfig\` unless it is a path must be encrypted in the stack:
  \`pulumi config set --secret\`.
- From outside, the gateway is reached by TLS: \`ingress.host\` needs \`ingress.tlsSecret\` or \`ingress.clusterIssuer\`, and \`gateway.serviceType\`
  is \`ClusterIP\`. Where TLS ends in front of the gateway, \`publicUrl\` is \`https://…\`; then these two rules do not apply, and \`httpRoute.host\` needs it. Or
  \`allowPlainHttp\` is true.
- \`console.host\` needs \`console.tlsSecret\` or \`console.clusterIssuer\`, or \`console.origins\` where TLS ends in front; it is no host of
  functions.
- \`natsTls\` has certificate, key and authority, or is absent and generated; with \`nats.url\` it has only the authority.
- \`natsPasswords\` has a password for each process that uses the broker of \`nats.url\`: \`gateway\`, \`autoscaler\`, \`queue-doctor\`,
  \`history\` unless it is off, \`queue-worker\`, and \`queue-worker-<queue>\` for each further queue.
`;

/** The keys of a stack that are not settings of a process. */
export function stackSection(): string {
  const keys = stackKeys.filter(({ key }) => !tuningKeys.includes(key));
  return introduction + table(keys.flatMap(rowsOf), ["Stack", "Kind", "Default", "Meaning"]) + rules;
}

function rowsOf({ key, setting, group }: StackKey): string[][] {
  if (setting !== undefined) return [rowOf(key, setting)];
  return Object.values(group ?? {}).map((option) => rowOf(`${key}.${option.name}`, option));
}

function rowOf(path: string, setting: Setting<unknown>): string[] {
  return [code(`weir:${path}`), kindOf(setting), defaultOf(setting), setting.about];
}
