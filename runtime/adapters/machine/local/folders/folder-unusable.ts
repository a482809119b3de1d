/** A folder cannot be copied; the message is the state in an error sentence. */
export class FolderUnusable extends Error {
  override readonly name = "FolderUnusable";
}
