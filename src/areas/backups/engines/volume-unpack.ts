/** Reading a file of ours on the server, packed or not. For Bash. */

/** `unpacked FILE` sets `unpack_by`, the command that unpacks it; by its content, since a name says nothing. */
export const unpacked = `
as_hex() { od -An -v -tx1 | tr -d ' \\n'; }
unpacked() {
  case $(head -c 4 -- "$1" | as_hex) in
    28b52ffd) unpack_by=(zstd -dcq) ;;
    1f8b*) unpack_by=(gzip -dcq) ;;
    *) unpack_by=(cat) ;;
  esac
}
`;
