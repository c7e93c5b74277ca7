find_package(llama REQUIRED)
