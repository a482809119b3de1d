/** Shells for which there is a script. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A dollar sign before a brace, which would end the text here. */
const $ = "$";

const bash = String.raw`# Completion of weir for bash. For all shells of this user, add to ~/.bashrc:
#   eval "$(weir completion bash)"
_weir() {
  local line value
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    value=${$}{line%%$'\t'*}
    # Readline has "--name=" as a word of its own.
    [[ $COMP_WORDBREAKS == *=* ]] && value=${$}{value#--*=}
    COMPREPLY+=("$value")
  done < <("$1" __complete --line "${$}{COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _weir weir
`;

const zsh = String.raw`#compdef weir
# Completion of weir for zsh. Write it to a file _weir in a directory of $fpath, or add to ~/.zshrc after compinit:
#   source <(weir completion zsh)
_weir() {
  local line value
  local -a lines found before
  (( CURRENT > 2 )) && before=("${$}{(@Q)words[2,CURRENT-1]}")
  lines=("${$}{(@f)$(command weir __complete -- "${$}{before[@]}" "$PREFIX" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    value=${$}{${$}{line%%$'\t'*}//:/\\:}
    [[ $line == *$'\t'* ]] && value+=:${$}{line#*$'\t'}
    found+=("$value")
  done
  (( $#found )) && _describe weir found
}
if [[ $funcstack[1] == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
`;

const fish = String.raw`# Completion of weir for fish. For all shells of this user:
#   weir completion fish > ~/.config/fish/completions/weir.fish
function __weir_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (command weir __complete -- $words "$current" 2>/dev/null)
    if test "$lines" = ":files"
        __fish_complete_path "$current"
    else
        printf '%s\n' $lines
    end
end
complete -c weir -f -a '(__weir_complete)'
`;

/** The script that makes a shell complete the command; the shell runs it. */
export const completionScript: Readonly<Record<Shell, string>> = { bash, zsh, fish };
