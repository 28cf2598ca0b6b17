/** Parts of scripts that load a file on the server: what it is, by its content since a name says nothing. For Bash. */

/** `detect_compression FILE` sets `unpack`, the command that unpacks it. */
export const detectCompression = `
as_hex() { od -An -v -tx1 | tr -d ' \\n'; }
detect_compression() {
  case $(head -c 4 -- "$1" | as_hex) in
    28b52ffd) unpack=(zstd -dcq) ;;
    1f8b*) unpack=(gzip -dcq) ;;
    *) unpack=(cat) ;;
  esac
}
`;

/**
 * `detect_format FILE` sets `unpack` as well, and `inner`, what comes out: custom and pgtar, archives of pg_dump, or sql.
 * What cannot be loaded is refused with what it is.
 */
export const detectFormat = `${detectCompression}
refuse() { echo "@refused $1"; exit 1; }
detect_format() {
  case $(head -c 8 "$1" | as_hex) in
    425a68*) refuse 'a bzip2 archive' ;;
    fd377a585a00*) refuse 'an xz archive' ;;
    504b0304*|504b0506*) refuse 'a zip archive' ;;
    377abcaf271c*) refuse 'a 7z archive' ;;
    526172211a07*) refuse 'a rar archive' ;;
  esac
  detect_compression "$1"
  local first
  first=$({ "\${unpack[@]}" <"$1" 2>/dev/null || :; } | head -c 4096 | as_hex || :)
  case $first in
    '') refuse 'an empty or damaged file' ;;
    5047444d50*) inner=custom ;;
    746f632e646174*) if [ "\${first:514:10}" = 7573746172 ]; then inner=pgtar; else inner=sql; fi ;;
    53514c69746520666f726d6174*) refuse 'a database of SQLite' ;;
    fffe*|feff*) refuse 'text in UTF-16' ;;
    *)
      if [ "\${first:514:10}" = 7573746172 ]; then refuse 'a tar archive'; fi
      if printf %s "$first" | fold -w 2 | grep '^00' >/dev/null; then refuse 'a binary file'; fi
      inner=sql
      ;;
  esac
}
`;

/** `wait_for CONTAINER` until `is_ready CONTAINER`; what its log says where it ends instead. */
export const waitFor = `
wait_for() {
  local tries=1200
  until is_ready "$1" >/dev/null 2>&1; do
    tries=$((tries - 1))
    if [ "$tries" = 0 ] || [ "$(docker inspect --format '{{.State.Running}}' "$1")" != true ]; then
      docker logs --tail 15 "$1" >&2 || :
      echo 'the scratch database did not start' >&2
      exit 1
    fi
    sleep 0.25
  done
}
`;
