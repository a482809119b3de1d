import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readEach } from "../../client/read-reply.ts";
import { functionNameReply } from "../../client/reply-kinds.ts";
import { compareText } from "../../output/compare-text.ts";

/** Names of functions by the secret that they use; sorted. */
export type SecretUsers = ReadonlyMap<string, readonly string[]>;

type SecretUser = Pick<FunctionStatus, "name" | "secrets">;

/** Which functions of a namespace use which secrets. */
export async function readSecretUsers(gateway: GatewayClient, namespace: string | undefined): Promise<SecretUsers> {
  const keep = ({ name, secrets = [] }: SecretUser): SecretUser => ({ name, secrets });
  return secretUsers(await readEach(gateway, "/system/functions", functionNameReply, { query: { namespace } }, keep));
}

/** See {@link SecretUsers}. */
export function secretUsers(functions: readonly SecretUser[]): SecretUsers {
  const users = new Map<string, string[]>();
  for (const { name, secrets = [] } of functions.toSorted((a, b) => compareText(a.name, b.name)))
    for (const secret of new Set(secrets)) users.set(secret, [...(users.get(secret) ?? []), name]);
  return users;
}
