FROM ruby:3.3 AS build
WORKDIR /app
ENV BUNDLE_WITHOUT=development:test \
    BUNDLE_DEPLOYMENT=1 \
    BUNDLE_PATH=/usr/local/bundle \
    RAILS_ENV=production \
    RAILS_LOG_TO_STDOUT=1 \
    RAILS_SERVE_STATIC_FILES=1
ENV BUNDLE_GLOBAL_GEM_CACHE=true
COPY Gemfile Gemfile.lock .ruby-version ./
RUN --mount=type=cache,target=/root/.bundle/cache \
    bundle install
COPY . ./
RUN SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile

FROM ruby:3.3-slim
RUN apt-get update && apt-get install -y --no-install-recommends libpq5 && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
ENV BUNDLE_WITHOUT=development:test \
    BUNDLE_DEPLOYMENT=1 \
    BUNDLE_PATH=/usr/local/bundle \
    RAILS_ENV=production \
    RAILS_LOG_TO_STDOUT=1 \
    RAILS_SERVE_STATIC_FILES=1
COPY --from=build /usr/local/bundle/ /usr/local/bundle/
COPY --from=build --chown=10001:10001 /app/ ./
ENV PORT=3000
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["ruby", "-rnet/http", "-e", "exit(Net::HTTP.get_response('127.0.0.1',ARGV[0],Integer(ENV['PORT'])).code.to_i<ARGV[1].to_i)", "/up", "400"]
CMD ["bundle", "exec", "puma", "-C", "config/puma.rb"]
