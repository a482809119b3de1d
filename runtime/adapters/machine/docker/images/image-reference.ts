import { quote } from "../../../../core/quote.ts";
import { StartFailure } from "../containers/start-failure.ts";

const form =
  /^[A-Za-z0-9][A-Za-z0-9._-]*(?::\d{1,5}(?=\/))?(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@[a-z0-9]+:[0-9a-fA-F]{32,128})?$/;

/** What to ask the engine for: without a tag or digest it would take all tags there are. */
export interface PullQuery {
  readonly fromImage: string;
  readonly tag?: string;
}

/**
 * Checks that `image` is a reference, so that it can stand in a path.
 * @throws StartFailure `InvalidImageName`
 */
export function checkImage(image: string): string {
  if (form.test(image) && !image.includes("..")) return image;
  throw new StartFailure(
    "InvalidImageName",
    `Cannot use image ${quote(image)}: expected a reference such as ghcr.io/acme/hello:1`,
  );
}

/** How an image is asked for at its registry. */
export function pullQuery(image: string): PullQuery {
  const last = image.slice(image.lastIndexOf("/") + 1);
  return /[:@]/.test(last) ? { fromImage: image } : { fromImage: image, tag: "latest" };
}
