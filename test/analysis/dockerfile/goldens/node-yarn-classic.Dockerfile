FROM node:24-slim AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.npm \
    command -v yarn || npm install --global yarn@1.22.22
COPY package.json yarn.lock ./
RUN --mount=type=cache,target=/usr/local/share/.cache/yarn \
    yarn install --frozen-lockfile

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN yarn build
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,target=/usr/local/share/.cache/yarn \
    yarn install --frozen-lockfile --production --ignore-scripts --prefer-offline && mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=production /app/node_modules/ ./node_modules/
COPY --from=build --chown=1000:1000 /app/ ./
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["env", "NODE_OPTIONS=--enable-source-maps", "node", "dist/main.js"]
