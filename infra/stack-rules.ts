import type { Values } from "../runtime/settings/setting.ts";
import { brokerSecretNames } from "./manifests/secrets.ts";
import { natsSecretName } from "./manifests/names.ts";
import type { groupedOptions } from "./manifests/platform-options.ts";
import { isTlsInFront, type Platform } from "./manifests/platform.ts";
import type { natsTlsOptions, stackOptions } from "./stack-options.ts";

/** What the rules of a stack check; values that could not be read are undefined. */
export interface StackFacts {
  readonly options: Partial<Values<typeof stackOptions>>;
  readonly natsTls: Partial<Values<typeof natsTlsOptions>>;
  readonly nats: Partial<Values<typeof groupedOptions.nats>>;
  readonly gateway: Partial<Values<typeof groupedOptions.gateway>>;
  readonly ingress: Partial<Values<typeof groupedOptions.ingress>>;
  readonly httpRoute: Partial<Values<typeof groupedOptions.httpRoute>>;
  readonly publicUrl: string | undefined;
  /** Only if there are no problems with it. */
  readonly platform: Platform | undefined;
}

/** Problems across the options of a stack; each names key, value and rule. */
export function stackRules(facts: StackFacts): string[] {
  return [
    ...plainHttpProblems(facts),
    ...certificateProblems(facts),
    ...passwordProblems(facts),
    ...authorityProblems(facts),
  ];
}

function plainHttpProblems({ options, gateway, ingress, httpRoute, publicUrl }: StackFacts): string[] {
  if (options.allowPlainHttp !== false || isTlsInFront(publicUrl)) return [];
  const problems: string[] = [];
  const { serviceType } = gateway;
  if (serviceType !== undefined && serviceType !== "ClusterIP")
    problems.push(
      `gateway.serviceType: expected ClusterIP with ingress.host before it, as the gateway speaks HTTP without TLS; publicUrl: https://… where TLS ends in front of it; or allowPlainHttp: true; got "${serviceType}"`,
    );
  if (ingress.host !== undefined && ingress.tlsSecret === undefined && ingress.clusterIssuer === undefined)
    problems.push(
      `ingress.host: expected ingress.tlsSecret or ingress.clusterIssuer with it, publicUrl: https://… where TLS ends in front of it, or allowPlainHttp: true; got "${ingress.host}" alone`,
    );
  if (httpRoute.host !== undefined)
    problems.push(
      `httpRoute.host: expected publicUrl: https://… with it, as TLS is the Gateway's, or allowPlainHttp: true; got "${httpRoute.host}" alone`,
    );
  return problems;
}

function certificateProblems({ nats, natsTls }: StackFacts): string[] {
  const { certificate, key, authority } = natsTls;
  const given = Object.entries({ certificate, key, authority }).flatMap(([name, pem]) =>
    pem === undefined ? [] : [name],
  );
  if (nats.tls === false)
    return given.length === 0 ? [] : [`natsTls: expected nats.tls with it, got ${given.join(", ")} alone`];
  if (nats.url === undefined)
    return given.length === 0 || given.length === 3
      ? []
      : [`natsTls: expected certificate, key and authority, or none of them; got ${given.join(", ")} alone`];
  return nats.tls === undefined || (given.length === 1 && authority !== undefined)
    ? []
    : [`natsTls: expected authority alone, as the broker of nats.url has its own certificate; got ${list(given)}`];
}

/** A broker that runs elsewhere has its users already; ours gets generated ones. */
function passwordProblems({ options, nats, platform }: StackFacts): string[] {
  const { natsPasswords } = options;
  if (natsPasswords === undefined) return [];
  const given = Object.keys(natsPasswords);
  if (nats.url === undefined)
    return given.length === 0 ? [] : [`natsPasswords: expected nats.url with them, got ${given.join(", ")} alone`];
  if (platform === undefined) return [];
  const needed = brokerSecretNames(platform).map((name) => name.slice(natsSecretName("").length));
  const weak = given.filter((name) => !/^[A-Za-z0-9_-]{16,}$/.test(natsPasswords[name] ?? ""));
  return [
    ...(needed.every((name) => given.includes(name)) && given.every((name) => needed.includes(name))
      ? []
      : [`natsPasswords: expected ${needed.join(", ")}; got ${list(given)}`]),
    ...weak.map((name) => `natsPasswords.${name}: expected 16 letters, digits, - and _ or more`),
  ];
}

function authorityProblems({ options: { historyDatabaseAuthority }, platform }: StackFacts): string[] {
  if (historyDatabaseAuthority === undefined || platform === undefined || platform.historyDatabase !== undefined)
    return [];
  return ["historyDatabaseAuthority: expected historyDatabase with it, got none"];
}

function list(words: readonly string[]): string {
  return words.length === 0 ? "nothing" : words.join(", ");
}
