import type { JwtIssuerSpec } from "../../runtime/api/resources/iam-resources.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";
import { readyPods } from "./ready-pods.ts";
import type { KubernetesObject, TestCluster } from "./test-cluster.ts";
import { exchangeFields, type ExchangeFields } from "./token-exchange.ts";

/** What the gateway answers to an exchange. */
export interface Exchanged {
  readonly status: number;
  readonly access_token?: string;
  readonly error?: string;
  readonly error_description?: string;
}

/** A service account in a namespace of functions. */
export interface NamedAccount {
  readonly name: string;
  /** The default one when absent. */
  readonly namespace?: string;
}

/** Identity and access of a platform in a cluster, whose rules are objects and whose tokens the API server issues. */
export interface ClusterIdentity {
  /** Who issues tokens of service accounts, as the API server says. */
  issuer(): Promise<string>;
  /** Addresses of the gateways' pods that are ready. */
  gateways(): Promise<readonly string[]>;
  createAccount(account: NamedAccount): Promise<void>;
  /** Creates an account, and a role that allows it these actions; resolves once every gateway knows that. */
  grant(name: string, actions: readonly string[], resources: readonly string[]): Promise<void>;
  /** A token of an account, requested from the API server, for an hour and the exchange unless `audience` says else. */
  accountToken(account: NamedAccount, audience?: string): Promise<string>;
  /** Exchanges a token, at the Service unless `url` says where. */
  exchange(token: string, fields?: ExchangeFields, url?: string): Promise<Exchanged>;
  /** A token of the platform for an account that has a role. */
  apiToken(name: string, fields?: ExchangeFields): Promise<string>;
}

const group = "iam.service.com/v1";

/** The address of the gateway in the cluster, which is the issuer of a platform without `public_url`. */
export function issuerInCluster(namespace: string): string {
  return `http://gateway.${namespace}.svc.cluster.local.:8080`;
}

function exchangeAudience(namespace: string): string {
  return `${issuerInCluster(namespace)}/oauth/token`;
}

/** The cluster as a trusted issuer of the platform in `namespace`, with keys from the API server. */
export async function clusterIssuer(cluster: TestCluster, namespace: string): Promise<JwtIssuerSpec> {
  const iss = await issuerOf(cluster);
  return { iss, issInternal: "https://kubernetes.default.svc", aud: [exchangeAudience(namespace)] };
}

/** A platform that trusts its cluster as `clusterIssuer` says; `platform` is called at each use. */
export function clusterIdentity(platform: () => ClusterPlatform): ClusterIdentity {
  const placeOf = ({ namespace = platform().functionNamespace }: NamedAccount): string => namespace;

  const gateways = async (): Promise<readonly string[]> =>
    (await readyPods(platform(), "gateway")).map((address) => `http://${address}:8080`);
  const createAccount = async (account: NamedAccount): Promise<void> => {
    const metadata = { name: account.name, namespace: placeOf(account) };
    await platform().cluster.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });
  };
  const accountToken = async (
    account: NamedAccount,
    audience = exchangeAudience(platform().namespace),
  ): Promise<string> => {
    const args = ["create", "token", account.name, `--audience=${audience}`, "--duration=1h"];
    return (await platform().cluster.kubectl(args, { namespace: placeOf(account) })).trim();
  };
  const exchange = async (token: string, fields: ExchangeFields = {}, url = platform().url): Promise<Exchanged> => {
    const sent = Object.entries({ ...exchangeFields, subject_token: token, ...fields });
    const pairs = sent.flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
    const response = await fetch(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams(pairs) });
    return { ...((await response.json()) as object), status: response.status };
  };

  return {
    issuer: () => issuerOf(platform().cluster),
    gateways,
    createAccount,
    accountToken,
    exchange,
    grant: async (name, action, resource) => {
      const { cluster, namespace, functionNamespace } = platform();
      const object = (kind: string, spec: object): KubernetesObject => ({
        apiVersion: group,
        kind,
        metadata: { name, namespace },
        spec,
      });
      const subject = `system:serviceaccount:${functionNamespace}:${name}`;
      await createAccount({ name });
      await cluster.apply(
        object("Policy", { statement: [{ sid: name, effect: "Allow", action, resource }] }),
        object("Role", {
          policy: [name],
          principal: { "jwt:iss": [await issuerOf(cluster)], "jwt:sub": [subject] },
        }),
      );
      const token = await accountToken({ name });
      for (const url of await gateways()) {
        const isKnown = async (): Promise<boolean> => {
          const { status, error_description: why } = await exchange(token, {}, url);
          if (status !== 200) throw new Error(`${status} ${why}`);
          return true;
        };
        // Keys that could not be read are asked for again after 30 s.
        await eventually(isKnown, { what: `${url} to know the role of ${name}`, every: 250, within: 180_000 });
      }
    },
    apiToken: async (name, fields) => {
      const { access_token: token, ...refused } = await exchange(await accountToken({ name }), fields);
      if (token === undefined) throw new Error(`Cannot exchange a token of ${name}: ${JSON.stringify(refused)}`);
      return token;
    },
  };
}

async function issuerOf(cluster: TestCluster): Promise<string> {
  const described = await cluster.kubectl(["get", "--raw=/.well-known/openid-configuration"], { namespace: null });
  return (JSON.parse(described) as { readonly issuer: string }).issuer;
}
