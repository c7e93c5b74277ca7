// Errors as OpenAI's clients know them.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dts/error.h"
#include "serve/http/http.h"

namespace dts::serve {

// Thrown while a request is being read or admitted; becomes the response.
class ApiError : public std::runtime_error {
 public:
  // `param` is the field that is wrong, `code` a word for programs; both may be empty. Message and field are shortened:
  // what the client sent may be in them, and that is as long as it likes.
  ApiError(int status, const std::string& message, const std::string& param = {}, std::string code = {});

  int status() const { return status_; }
  const std::string& param() const { return param_; }
  const std::string& code() const { return code_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

  ApiError& with_header(std::string name, std::string value) {
    headers_.emplace_back(std::move(name), std::move(value));
    return *this;
  }

 private:
  int status_;
  std::string param_;
  std::string code_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

// An error of the library as the client is told: 400, with options as the API calls them.
ApiError api_error(const Error& error);

// {"error": {"message", "type", "param", "code"}}
std::string error_json(int status, std::string_view message, std::string_view param, std::string_view code);
HttpResponse error_response(const ApiError& error);

// Throws 405 when a path is asked for with another method than it has. Who may GET may ask for the HEAD, too.
void require_method(const HttpRequest& request, std::initializer_list<std::string_view> methods);

// Throws 415 when the body is not said to be JSON.
void require_json(const HttpRequest& request);

}  // namespace dts::serve
