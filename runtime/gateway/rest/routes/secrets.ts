import Type from "typebox";

import { PlatformError } from "../../../api/platform-error.ts";
import { Secret, SecretListItem, SecretReference } from "../../../api/schemas/secret.ts";
import { confirmNamespace } from "../../../core/namespaces/namespace-changes.ts";
import { resolveNamespace } from "../../../core/namespaces/namespace-rules.ts";
import type { SecretStore } from "../../../core/ports/secret-store.ts";
import { secretValue } from "../../../core/secret-value.ts";
import { namespaceResource } from "../named-resource.ts";
import { namedNamespace, NamespaceQuery } from "../namespace-query.ts";
import { route, type RouteParts } from "../route.ts";

const createSecret = route(
  {
    id: "createSecret",
    group: "secrets",
    method: "POST",
    path: "/system/secrets",
    needs: "Secret:Create",
    resource: ({ body }, names) => namespaceResource(body.namespace, names),
    about: "Stores a secret.",
    body: Secret,
    responses: [{ status: 201, about: "The secret is stored" }],
    errors: ["namespace_reserved", "edition_limit", "secret_exists", "not_built"],
    trial: {
      commands: `curl -i -u admin:$P $G/system/secrets -d '{"name":"api-key","value":"s3cret"}'`,
      shows: "HTTP/1.1 201 Created\n…",
    },
  },
  (parts) =>
    ({ body }) =>
      storeSecret(body, "create", parts),
);

const replaceSecret = route(
  {
    id: "replaceSecret",
    group: "secrets",
    method: "PUT",
    path: "/system/secrets",
    needs: "Secret:Update",
    resource: ({ body }, names) => namespaceResource(body.namespace, names),
    about: "Replaces the value of a secret; on one machine, running functions see the new value at once.",
    body: Secret,
    responses: [{ status: 202, about: "The value is stored" }],
    errors: ["namespace_reserved", "edition_limit", "secret_not_found", "not_built"],
    trial: {
      commands: `curl -i -u admin:$P -X PUT $G/system/secrets -d '{"name":"api-key","rawValue":"czNjcmV0"}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  (parts) =>
    ({ body }) =>
      storeSecret(body, "replace", parts),
);

const listSecrets = route(
  {
    id: "listSecrets",
    group: "secrets",
    method: "GET",
    path: "/system/secrets",
    needs: "Secret:List",
    resource: ({ query }, names) => namespaceResource(namedNamespace(query), names),
    about: "Lists the secrets of a namespace by name, never their values.",
    query: NamespaceQuery,
    responses: [{ status: 200, about: "The names, sorted", schema: Type.Array(SecretListItem) }],
    errors: ["namespace_not_found", "namespace_reserved", "edition_limit", "not_built"],
    trial: {
      commands: "curl -u admin:$P $G/system/secrets",
      shows: '[{"name":"api-key","namespace":"functions"}]',
    },
  },
  ({ secrets, namespaces }) =>
    async ({ query }) => {
      const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
      return (await requireStore(secrets).list(namespace)).map((name) => ({ name, namespace }));
    },
);

const deleteSecret = route(
  {
    id: "deleteSecret",
    group: "secrets",
    method: "DELETE",
    path: "/system/secrets",
    needs: "Secret:Delete",
    resource: ({ query, body }, names) => namespaceResource(namedNamespace(query, body), names),
    about: "Removes a secret; functions that use it are stalled at their next update.",
    query: NamespaceQuery,
    body: SecretReference,
    responses: [{ status: 202, about: "The secret is gone" }],
    errors: ["namespace_not_found", "secret_not_found", "namespace_reserved", "edition_limit", "not_built"],
    trial: {
      commands: `curl -i -u admin:$P -X DELETE $G/system/secrets -d '{"name":"api-key"}'`,
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  ({ secrets, namespaces }) =>
    async ({ body, query }) => {
      const namespace = resolveNamespace(namedNamespace(query, body), namespaces, "namespace_not_found");
      await requireStore(secrets).remove({ namespace, name: body.name });
    },
);

/** Secrets: create, replace, list names, delete; values are never returned (contract §3.2). */
export const secretRoutes = [createSecret, replaceSecret, listSecrets, deleteSecret];

/** Stores a secret, and removes it again if its namespace was deleted meanwhile. */
async function storeSecret(body: Secret, mode: "create" | "replace", parts: RouteParts): Promise<void> {
  const value = secretValue(body);
  const namespace = resolveNamespace(body.namespace, parts.namespaces, "validation_failed");
  const ref = { namespace, name: body.name };
  const secrets = requireStore(parts.secrets);
  await secrets[mode](ref, value);
  await confirmNamespace(namespace, parts, () => secrets.remove(ref));
}

function requireStore(secrets: SecretStore | undefined): SecretStore {
  if (secrets !== undefined) return secrets;
  throw new PlatformError("not_built", "Cannot keep secrets: this provider has no store for them");
}
