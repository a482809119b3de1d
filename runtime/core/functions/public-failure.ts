import { publicly, type PublicSentence } from "../../api/public-sentence.ts";

const pull = publicly`its image cannot be pulled`;
const process = publicly`its process cannot be started`;
const deployment = publicly`its deployment cannot be used`;
const ended = publicly`its replica ended`;
const unready = publicly`its replica is not ready`;
const unknown = publicly`its replicas do not start`;

const sentences: ReadonlyMap<string, PublicSentence> = new Map([
  ["CannotRun", process],
  ["CrashLoopBackOff", publicly`its replicas end again and again`],
  ["ErrImageNeverPull", pull],
  ["ErrImagePull", pull],
  ["Error", ended],
  ["FolderUnusable", publicly`its folder cannot be used`],
  ["ImageInspectError", pull],
  ["ImagePullBackOff", pull],
  ["Invalid", deployment],
  ["InvalidImageName", deployment],
  ["NotListening", publicly`its process does not listen`],
  ["NotReady", unready],
  ["OOMKilled", publicly`its replica needs more memory than it may use`],
  ["PortInUse", publicly`its port is in use`],
  ["PrepareFailed", publicly`its preparation failed`],
  ["Preparing", publicly`it is being prepared`],
  ["ProfileNotFound", deployment],
  ["ProfileRefused", deployment],
  ["ProviderUnavailable", publicly`the provider is unavailable`],
  ["PullingImage", publicly`its image is being pulled`],
  ["QuotaExceeded", publicly`the quota of its namespace is used up`],
  ["RegistryUnavailable", pull],
  ["SecretFileTwice", deployment],
  ["SecretNotFound", publicly`a secret of it does not exist`],
  ["ServiceAccountNotFound", deployment],
  ["ServiceAccountRefused", deployment],
  ["SignatureValidationFailed", pull],
  ["UnknownKey", deployment],
  ["Unhealthy", publicly`its replica failed its health probe`],
  ["Unschedulable", publicly`there is no room for its replica`],
]);

/**
 * What anyone may read of a failure: a sentence that the reason decides alone, whatever the message says. A reason of the
 * orchestrator that is not known here gives one that fits all.
 */
export function publicFailure(reason: string | undefined): PublicSentence {
  const sentence = (reason === undefined ? undefined : sentences.get(reason)) ?? unknown;
  return publicly`${sentence}; its conditions say why`;
}
