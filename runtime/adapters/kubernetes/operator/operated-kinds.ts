import type { TSchema } from "typebox";
import { Value } from "typebox/value";

import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { PolicySpec, RoleSpec } from "../../../api/resources/iam-resources.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { defaultNamespaceSettings } from "../manifests/namespace-objects.ts";
import { profileFault } from "../manifests/pods/profile-fault.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import { CoreSecrets } from "./core-secrets.ts";
import { openFunctionCaches, type ProfileObject } from "./function-caches.ts";
import { ListedSecrets } from "./listed-secrets.ts";
import { OperatedAccepted, type AcceptedObject } from "./operated-accepted.ts";
import { OperatedFunctions } from "./operated-functions.ts";
import { OperatedNamespaces } from "./operated-namespaces.ts";
import { OperatedSecrets } from "./operated-secrets.ts";
import { ServiceAccounts } from "./service-accounts.ts";

/** Options of the operator of one platform. */
export interface OperatorOptions {
  readonly platformNamespace: string;
  /** Whether the edition has many function namespaces. */
  readonly manyNamespaces: boolean;
  readonly gatewayUrl: string;
  /** CIDRs that functions may not reach directly. */
  readonly clusterRanges: readonly string[];
  /** Milliseconds a call may take at most. */
  readonly longestCall: number;
  /** Limits of functions that state none: quantities; undefined = unlimited. */
  readonly functionLimits: { readonly memory: string | undefined; readonly cpu: string | undefined };
  /** Throws for a deployment that breaks a rule or exceeds the edition. */
  readonly check: (deployment: FunctionDeployment) => void;
  /** The declared queues by name; undefined when they are not known. */
  readonly queues: ReadonlyMap<string, unknown> | undefined;
  /** Called when the API server is unavailable, or refuses something for good. */
  readonly onFailure: (err: unknown) => void;
}

/** Starts the watches of everything that an operator reconciles; the kinds are in the order to open them in. */
export function operatedKinds(client: KubeClient, namespaces: NamespaceSet, options: OperatorOptions): OperatedKind[] {
  const { platformNamespace, manyNamespaces, onFailure } = options;
  const { gatewayUrl, clusterRanges, longestCall, check } = options;
  const caches = openFunctionCaches(client, namespaces, platformNamespace, onFailure);
  const accounts = new ServiceAccounts(client);
  const secrets = new CoreSecrets(client);
  const defaults = defaultNamespaceSettings(platformNamespace);
  const settings = {
    ...defaults,
    limits: withLimits(defaults.limits, options.functionLimits),
    clusterRanges,
    bindAccounts: manyNamespaces,
  };
  const accepted = { namespace: platformNamespace, onFailure };
  return [
    new OperatedNamespaces(client, namespaces, settings, onFailure),
    new OperatedAccepted<ProfileObject>(client, {
      ...accepted,
      kind: kinds.profile,
      fault: ({ metadata, spec }) => profileFault(metadata.name ?? "", spec ?? {}),
      enforced: true,
    }),
    new OperatedAccepted(client, { ...accepted, kind: kinds.jwtIssuer, fault: () => undefined, enforced: false }),
    new OperatedAccepted(client, { ...accepted, kind: kinds.policy, fault: faultBy(PolicySpec), enforced: false }),
    new OperatedAccepted(client, { ...accepted, kind: kinds.role, fault: faultBy(RoleSpec), enforced: false }),
    new ListedSecrets(secrets, namespaces),
    new OperatedSecrets(client, secrets, namespaces, onFailure),
    new OperatedFunctions(client, caches, {
      platformNamespace,
      gatewayUrl,
      longestCall,
      defaultLimits: settings.limits,
      queues: options.queues,
      check,
      secrets,
      onFailure,
      account: (namespace, name) => accounts.of(namespace, name),
    }),
  ];
}

/** `limits` with memory and cpu as the platform's settings say. */
function withLimits(
  { memory: _memory, cpu: _cpu, ...others }: Readonly<Record<string, string>>,
  { memory, cpu }: OperatorOptions["functionLimits"],
): Readonly<Record<string, string>> {
  return { ...others, ...(memory === undefined ? {} : { memory }), ...(cpu === undefined ? {} : { cpu }) };
}

/** Checks what the API server cannot: values within conditions. */
function faultBy(schema: TSchema): (object: AcceptedObject) => string | undefined {
  return ({ metadata: { name = "" }, spec }) => {
    const [error] = Value.Errors(schema, spec);
    return error && `Cannot use "${name}": spec${error.instancePath.replaceAll("/", ".")} ${error.message}`;
  };
}
