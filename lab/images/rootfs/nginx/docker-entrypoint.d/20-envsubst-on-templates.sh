#!/bin/sh
# Writes /etc/nginx/conf.d/NAME for every /etc/nginx/templates/NAME.template, with ${VARIABLES} of the environment
# put in. Names that are not in the environment, such as nginx's own $host, are left alone.
set -eu

templates=${NGINX_ENVSUBST_TEMPLATE_DIR:-/etc/nginx/templates}
suffix=${NGINX_ENVSUBST_TEMPLATE_SUFFIX:-.template}
output=${NGINX_ENVSUBST_OUTPUT_DIR:-/etc/nginx/conf.d}
export NGINX_ENVSUBST_FILTER="${NGINX_ENVSUBST_FILTER:-}"

[ -d "$templates" ] || exit 0
if [ ! -w "$output" ]; then
  printf '%s: %s cannot be written to; the templates are left alone\n' "$0" "$output" >&2
  exit 0
fi

names=$(awk 'BEGIN { for (name in ENVIRON) if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && name ~ ENVIRON["NGINX_ENVSUBST_FILTER"]) printf "${%s} ", name }')

find -L "$templates" -type f -name "*$suffix" -print | while IFS= read -r template; do
  relative=${template#"$templates/"}
  target=$output/${relative%"$suffix"}
  mkdir -p -- "$(dirname -- "$target")"
  printf '%s: %s to %s\n' "$0" "$template" "$target"
  envsubst "$names" < "$template" > "$target"
done
