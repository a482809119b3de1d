import { quote } from "../../../../core/quote.ts";
import { StartFailure } from "../containers/start-failure.ts";

const form =
  /^[A-Za-z0-9][A-Za-z0-9._-]*(?::\d{1,5}(?=\/))?(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@[a-z0-9]+:[0-9a-fA-F]{32,128})?$/;

/** Query of a pull: without a tag or digest the engine would pull all tags. */
export interface PullQuery {
  readonly fromImage: string;
  readonly tag?: string;
}

/**
 * Checks that `image` is a reference, and so safe in a URL path.
 * @throws StartFailure `InvalidImageName`
 */
export function checkImage(image: string): string {
  if (form.test(image) && !image.includes("..")) return image;
  throw new StartFailure(
    "InvalidImageName",
    `Cannot use image ${quote(image)}: expected a reference such as ghcr.io/acme/hello:1`,
  );
}

/** The pull query of an image; its tag is `latest` if it has neither tag nor digest. */
export function pullQuery(image: string): PullQuery {
  const last = image.slice(image.lastIndexOf("/") + 1);
  return /[:@]/.test(last) ? { fromImage: image } : { fromImage: image, tag: "latest" };
}
