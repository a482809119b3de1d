/** System programs that the base image contains besides Node.js; missing ones are left out. */
export const imagePrograms: readonly string[] = [
  ..."sh cat ls cp mv rm mkdir rmdir ln chmod touch mktemp mkfifo".split(" "),
  ..."echo printf env printenv id whoami uname hostname date sleep true false test pwd tty nproc".split(" "),
  ..."head tail wc sort uniq cut tr tee seq od base64 md5sum sha1sum sha256sum dd stat du df readlink realpath".split(
    " ",
  ),
  ..."basename dirname xargs find grep sed awk setsid kill timeout getent".split(" "),
];
