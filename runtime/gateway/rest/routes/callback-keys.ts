import { JsonWebKeySet } from "../../../api/schemas/iam/token.ts";
import { callbackKeyFiles, callbackKeySet } from "../../../core/callbacks/callback-keys.ts";
import { followFiles, textIfThere } from "../../../process/files/follow-files.ts";
import { route } from "../route.ts";

/** Seconds for which receivers may keep the keys; a key counts for longer after it is replaced. */
const maxAge = 300;

/** Public keys of the signatures of callbacks. */
export const callbackKeysRoute = route(
  {
    id: "getCallbackKeys",
    group: "platform",
    method: "GET",
    path: "/.well-known/weir-callback-keys",
    needs: "nothing",
    about: "Returns the public keys by which callbacks of this platform are verified.",
    details:
      "A callback of a function that names no secret is signed by the scheme of Standard Webhooks with each of these Ed25519 keys (`v1a`): the current one and, for a while after it was replaced, the one before.",
    responses: [
      {
        status: 200,
        about: "The keys",
        schema: JsonWebKeySet,
        headers: { "Cache-Control": "How long they may be kept" },
      },
    ],
    trial: {
      commands: "curl -s $G/.well-known/weir-callback-keys",
      shows: '{"keys":[{"kty":"OKP","kid":"…","crv":"Ed25519","x":"…","alg":"EdDSA","use":"sig"}]}',
    },
  },
  ({ credentials }) => {
    const files = callbackKeyFiles(credentials.secretMountPath);
    const keys = followFiles(files, () => callbackKeySet(files.map(textIfThere)));
    return async ({ reply }) => {
      reply.header("Cache-Control", `public, max-age=${maxAge}`);
      return keys();
    };
  },
);
