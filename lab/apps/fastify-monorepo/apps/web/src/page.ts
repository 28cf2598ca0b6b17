function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function page(version: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>fastify-monorepo</title>
  </head>
  <body>
    <h1>fastify-monorepo-web ${escapeHtml(version)}</h1>
    <p id="greeting">Asking the api...</p>
    <script>
      fetch('/greeting?name=you')
        .then((answer) => answer.json())
        .then(({ text, from, version, error }) => {
          document.getElementById('greeting').textContent = error ?? text + ' (' + from + ' ' + version + ')';
        });
    </script>
  </body>
</html>
`;
}
