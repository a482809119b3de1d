import { callbackPath } from "../../runtime/gateway/auth/login/issuer-login.ts";

/** The realm of the tests, its clients and its people. */
export const keycloakRealm = "weir";
/** Public: the command line, with a loopback redirect of any port, device codes and, for tests, passwords. */
export const commandClient = "weir-cli";
/** Confidential: the console, at any port of this machine. */
export const consoleClient = "weir-console";
export const consoleClientSecret = "a secret of a test";

/** Everybody's password. */
export const keycloakPassword = "a password of a test";

/** People and their groups. */
export const keycloakPeople = { alice: ["deployers", "on-call"], bob: ["readers"], mallory: [] } as const;
export type KeycloakPerson = keyof typeof keycloakPeople;

/** What the realm is imported from. */
export function realmDocument(): object {
  return {
    realm: keycloakRealm,
    enabled: true,
    sslRequired: "none",
    // Tokens outlive the steps of the clock that a test makes.
    accessTokenLifespan: 7_200,
    ssoSessionIdleTimeout: 14_400,
    // Seconds between two polls for a device code.
    oauth2DevicePollingInterval: 1,
    groups: [...new Set(Object.values(keycloakPeople).flat())].map((name) => ({ name })),
    users: Object.entries(keycloakPeople).map(([username, groups]) => ({
      username,
      enabled: true,
      email: `${username}@example.com`,
      emailVerified: true,
      firstName: username,
      lastName: "Example",
      credentials: [{ type: "password", value: keycloakPassword, temporary: false }],
      groups: [...groups],
    })),
    clients: [
      {
        clientId: commandClient,
        publicClient: true,
        standardFlowEnabled: true,
        directAccessGrantsEnabled: true,
        redirectUris: ["http://127.0.0.1/callback"],
        attributes: { "oauth2.device.authorization.grant.enabled": "true", "pkce.code.challenge.method": "S256" },
        protocolMappers: [groupsMapper],
      },
      {
        clientId: consoleClient,
        publicClient: false,
        secret: consoleClientSecret,
        standardFlowEnabled: true,
        redirectUris: [`http://127.0.0.1${callbackPath}`],
        attributes: { "pkce.code.challenge.method": "S256" },
        protocolMappers: [groupsMapper],
      },
    ],
  };
}

/** Names of the person's groups in the claim `groups`. */
const groupsMapper = {
  name: "groups",
  protocol: "openid-connect",
  protocolMapper: "oidc-group-membership-mapper",
  config: {
    "claim.name": "groups",
    "full.path": "false",
    "id.token.claim": "true",
    "access.token.claim": "true",
    "userinfo.token.claim": "true",
  },
};
