FROM node:24 AS dependencies
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates openssl && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
COPY prisma/ ./prisma/
RUN --mount=type=cache,target=/root/.npm \
    npm ci

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN npm run build
RUN --mount=type=cache,target=/root/.npm \
    npm prune --omit=dev && mkdir -p node_modules

FROM node:24-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates openssl && rm -rf /var/lib/apt/lists/*
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=build --chown=1000:1000 /app/ ./
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["node", "dist/main"]
