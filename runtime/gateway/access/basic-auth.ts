import { timingSafeEqual } from "node:crypto";

import { PlatformError } from "../../api/platform-error.ts";
import { digest, openCredentialFiles, type CredentialDigests } from "./credential-files.ts";
import { LoginThrottle } from "./login-throttle.ts";

/** Checks the administrator's credentials (contract §1.2). */
export interface BasicAuth {
  /** How callers that it lets pass identify themselves: `open` = not at all. */
  readonly via: "basic" | "open";
  /** What is compared with now; undefined where nobody is asked. */
  readonly credentials: (() => CredentialDigests) | undefined;
  /**
   * Returns if the header holds them. `address` is the client's; wrong credentials are counted by it.
   * @throws PlatformError `credentials_required`, `credentials_invalid`, `too_many_logins`
   */
  check(authorization: string | undefined, address: string): void;
  /**
   * The same for the call of a function. An address that sent too many wrong credentials still gets
   * `credentials_invalid`; nothing is compared then, so the reply reveals nothing.
   * @throws PlatformError `credentials_required`, `credentials_invalid`
   */
  checkCall(authorization: string | undefined, address: string): void;
  /**
   * Returns if `address` may try credentials of any kind.
   * @throws PlatformError `too_many_logins`
   */
  checkThrottle(address: string): void;
  /**
   * Refuses credentials of another kind, and counts them if `address` is given; returns where nobody is asked.
   * @throws PlatformError `credentials_invalid`
   */
  refuse(address?: string): void;
  /**
   * Whether the header names the platform's user; the password is not checked. Such a header never reaches a function
   * or the queue, and its sender learns nothing about the password.
   */
  namesPlatformUser(authorization: string): boolean;
}

/**
 * Credentials from the files below `directory`, compared in constant time.
 * @throws PlatformError when a file is missing or empty
 */
export function openBasicAuth(directory: string, now: () => number = Date.now): BasicAuth {
  const credentials = openCredentialFiles(directory, now);
  const throttle = new LoginThrottle(now);

  const matches = (authorization: string): boolean => {
    const sent = parseBasic(authorization);
    if (sent === undefined) return false;
    const { user, password } = credentials();
    const rightUser = timingSafeEqual(digest(sent.user), user);
    const rightPassword = timingSafeEqual(digest(sent.password), password);
    return rightUser && rightPassword;
  };
  const compare = (authorization: string | undefined, address: string): void => {
    if (isMissing(authorization)) {
      throw new PlatformError("credentials_required", "Cannot answer this request: it has no credentials");
    }
    if (throttle.waitOf(address) === 0) {
      if (matches(authorization)) return;
      throttle.failed(address);
    }
    throw wrongCredentials();
  };
  const checkThrottle = (address: string): void => {
    const wait = throttle.waitOf(address);
    if (wait === 0) return;
    throw new PlatformError("too_many_logins", "Cannot check credentials: this address sent too many wrong ones", {
      retryAfterSeconds: wait / 1_000,
    });
  };

  return {
    via: "basic",
    credentials,
    check(authorization, address) {
      checkThrottle(address);
      compare(authorization, address);
    },
    checkCall: compare,
    checkThrottle,
    refuse(address) {
      if (address !== undefined) throttle.failed(address);
      throw wrongCredentials();
    },
    namesPlatformUser: (authorization) => {
      const user = userOf(authorization);
      return user !== undefined && timingSafeEqual(digest(user), credentials().user);
    },
  };
}

/** For `basic_auth=false`: every request is allowed, and no header holds the platform's credentials. */
export const openToAll: BasicAuth = {
  via: "open",
  credentials: undefined,
  check: () => {},
  checkCall: () => {},
  checkThrottle: () => {},
  refuse: () => {},
  namesPlatformUser: () => false,
};

function wrongCredentials(): PlatformError {
  return new PlatformError("credentials_invalid", "Cannot answer this request: its credentials are wrong");
}

/** A scheme with nothing after it, as some clients send, counts as missing. */
function isMissing(authorization: string | undefined): authorization is undefined {
  return authorization === undefined || /^\s*(basic|bearer)?\s*$/i.test(authorization);
}

/** The user that a Basic header names, parsed as leniently as a function behind the gateway might. */
function userOf(authorization: string): string | undefined {
  const encoded = /^\s*basic\s+(.*)$/i.exec(authorization)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("utf8").split(":", 1)[0];
}

function parseBasic(authorization: string): { readonly user: string; readonly password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
