FROM node:24-slim AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.npm \
    npm install --global pnpm@10.4.1
COPY package.json pnpm-lock.yaml ./
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    pnpm install --prod --frozen-lockfile
RUN mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=dependencies /app/node_modules/ ./node_modules/
COPY --chown=1000:1000 . ./
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["node", "server.js"]
