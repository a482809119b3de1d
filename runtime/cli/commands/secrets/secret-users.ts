import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { compareText } from "../../output/compare-text.ts";

/** Names of functions by the secret that they use; sorted. */
export type SecretUsers = ReadonlyMap<string, readonly string[]>;

/** Which functions of a namespace use which secrets. */
export async function readSecretUsers(gateway: GatewayClient, namespace: string | undefined): Promise<SecretUsers> {
  return secretUsers(
    await gateway.json<readonly FunctionStatus[]>("GET", "/system/functions", { query: { namespace } }),
  );
}

/** See {@link SecretUsers}. */
export function secretUsers(functions: readonly Pick<FunctionStatus, "name" | "secrets">[]): SecretUsers {
  const users = new Map<string, string[]>();
  for (const { name, secrets = [] } of functions.toSorted((a, b) => compareText(a.name, b.name)))
    for (const secret of new Set(secrets)) users.set(secret, [...(users.get(secret) ?? []), name]);
  return users;
}
