/** The settings file that `docs/reference/settings.md` shows; a test has the host accept it. */
export const exampleFile = `edition: enterprise
upstream_timeout: 60s
callback_policy: public
callback_allow: [hooks.internal, 10.0.0.0/8]

max_inflight: 4
queues:
  default:
    max_inflight: 8
  reports:
    timeout: 10m
    max_inflight: 2
    retry:
      attempts: 3
      codes: [429, 503]
`;
