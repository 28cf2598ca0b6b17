FROM denoland/deno:2.5.0 AS build
WORKDIR /app
ENV DENO_DIR=/deno-dir
COPY . ./
RUN deno cache main.ts

FROM denoland/deno:2.5.0
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app /deno-dir
WORKDIR /app
ENV DENO_DIR=/deno-dir \
    PORT=8000
COPY --from=build --chown=10001:10001 /deno-dir/ /deno-dir/
COPY --from=build --chown=10001:10001 /app/ ./
USER 10001:10001
EXPOSE 8000
HEALTHCHECK NONE
CMD ["deno", "run", "--allow-net", "--allow-env", "main.ts"]
