#include "draw/pdf.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dts/error.h"

namespace dts {
namespace {

// What we use of librsvg, cairo and GLib, as their manuals declare it.
struct RsvgHandle;
struct CairoSurface;
struct Cairo;
struct GlibError {
  std::uint32_t domain;
  int code;
  char* message;
};
struct RsvgRectangle {
  double x, y, width, height;
};
using WriteFunction = int (*)(void* closure, const unsigned char* data, unsigned int length);

class Librsvg {
 public:
  Librsvg() : library_(dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw Error("PDF is drawn by librsvg, which is not installed (Debian: librsvg2-2)");
    load(new_from_data, "rsvg_handle_new_from_data");
    load(set_dpi, "rsvg_handle_set_dpi");
    load(size_in_pixels, "rsvg_handle_get_intrinsic_size_in_pixels");
    load(render_document, "rsvg_handle_render_document");
    load(object_unref, "g_object_unref");
    load(error_free, "g_error_free");
    load(pdf_surface, "cairo_pdf_surface_create_for_stream");
    load(surface_finish, "cairo_surface_finish");
    load(surface_destroy, "cairo_surface_destroy");
    load(surface_status, "cairo_surface_status");
    load(cairo_create, "cairo_create");
    load(cairo_destroy, "cairo_destroy");
  }
  ~Librsvg() { dlclose(library_); }
  Librsvg(const Librsvg&) = delete;
  Librsvg& operator=(const Librsvg&) = delete;

  RsvgHandle* (*new_from_data)(const unsigned char*, std::size_t, GlibError**) = nullptr;
  void (*set_dpi)(RsvgHandle*, double) = nullptr;
  int (*size_in_pixels)(RsvgHandle*, double*, double*) = nullptr;
  int (*render_document)(RsvgHandle*, Cairo*, const RsvgRectangle*, GlibError**) = nullptr;
  void (*object_unref)(void*) = nullptr;
  void (*error_free)(GlibError*) = nullptr;
  CairoSurface* (*pdf_surface)(WriteFunction, void*, double, double) = nullptr;
  void (*surface_finish)(CairoSurface*) = nullptr;
  void (*surface_destroy)(CairoSurface*) = nullptr;
  int (*surface_status)(CairoSurface*) = nullptr;
  Cairo* (*cairo_create)(CairoSurface*) = nullptr;
  void (*cairo_destroy)(Cairo*) = nullptr;

 private:
  // The libraries that it stands on are found through it.
  template <typename Function>
  void load(Function& function, const char* name) {
    void* found = dlsym(library_, name);
    if (found == nullptr) {
      dlclose(library_);
      throw Error(fmt::format("PDF: this librsvg has no {}: it is too old", name));
    }
    function = reinterpret_cast<Function>(found);  // as dlsym(3) has it
  }

  void* library_;
};

int append(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return 0;
}

}  // namespace

std::string svg_to_pdf(std::string_view picture) {
  // What a page around it would decide: here the picture's own size counts.
  std::string svg(picture);
  constexpr std::string_view kOfAPage = " style=\"max-width: 100%; height: auto\"";
  if (const std::size_t at = svg.find(kOfAPage); at != std::string::npos) svg.erase(at, kOfAPage.size());
  // Kept open: GLib's types cannot be registered twice.
  static const auto library = std::make_unique<Librsvg>();
  const Librsvg& rsvg = *library;
  GlibError* failure = nullptr;
  const auto say = [&](const char* what) {
    const std::string message = failure != nullptr ? failure->message : what;
    if (failure != nullptr) rsvg.error_free(failure);
    return Error("PDF: the picture cannot be drawn: " + message);
  };
  RsvgHandle* handle = rsvg.new_from_data(reinterpret_cast<const unsigned char*>(svg.data()), svg.size(), &failure);
  if (handle == nullptr) throw say("no SVG");
  rsvg.set_dpi(handle, 96);
  double width = 0;
  double height = 0;
  if (rsvg.size_in_pixels(handle, &width, &height) == 0) {
    rsvg.object_unref(handle);
    throw say("it has no size");
  }
  constexpr double kPointsPerPixel = 72.0 / 96;
  const RsvgRectangle page{0, 0, width * kPointsPerPixel, height * kPointsPerPixel};
  std::string out;
  CairoSurface* surface = rsvg.pdf_surface(append, &out, page.width, page.height);
  Cairo* cairo = rsvg.cairo_create(surface);
  const bool drawn = rsvg.render_document(handle, cairo, &page, &failure) != 0;
  rsvg.cairo_destroy(cairo);
  rsvg.surface_finish(surface);
  const bool written = rsvg.surface_status(surface) == 0;
  rsvg.surface_destroy(surface);
  rsvg.object_unref(handle);
  if (!drawn || !written) throw say("cairo failed");
  return out;
}

}  // namespace dts
