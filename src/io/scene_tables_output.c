// Tables of what a scene reports and shows: probes, expectations and the camera.
#include "io/scene_words.h"

static const char *const axes[] = {"x", "y", "z", NULL};

static const FloSceneKey probe_keys[] = {
    {"name", NAME, ANY, NULL, .help = "name of the measurement and of its column in series.csv",
     .is_required = true},
    {"pressure", VECTOR, COORDINATE, "m", .help = "the pressure at this point"},
    {"water_height", VECTOR, COORDINATE, "m", .help = "the height of the surface above this point"},
    {"front", TEXT, ANY, NULL, .help = "the position of the fluid's front along this axis", .choices = axes},
    {"force", TEXT, ANY, NULL,
     .help = "the force of fluid and other bodies on the boundary or body of this name"},
    {"torque", TEXT, ANY, NULL,
     .help = "the torque of fluid and other bodies on the boundary or body of this name"},
    {"outside", TEXT, ANY, NULL,
     .help = "the number of fluid particles that the cloth or elastic body of this name does not surround"},
};

const FloSceneTable flo_scene_probe_table = {
    "a probe", TABLE(probe_keys),
    .exactly_one = {"pressure", "water_height", "front", "force", "torque", "outside"}};

static const FloSceneKey expect_keys[] = {
    {"measurement", NAME, ANY, NULL, .help = "name of a measurement in the summary, or of a probe"},
    {"figure", NAME, ANY, NULL, .help = "the former name of `measurement`, still accepted"},
    {"min", NUMBER, ANY, NULL, .help = "smallest value that passes"},
    {"max", NUMBER, ANY, NULL, .help = "largest value that passes"},
    {"paper", TEXT, ANY, NULL,
     .help = "value of the paper as text, shown beside the measured value; without min and max nothing is "
             "tested"},
};

const FloSceneTable flo_scene_expect_table = {"an expectation", TABLE(expect_keys),
                                              .exactly_one = {"measurement", "figure"},
                                              .at_least_one = {"min", "max", "paper"}};

static const FloSceneKey camera_keys[] = {
    {"from", TRIPLE, COORDINATE, "m", .help = "position of the camera", .is_required = true},
    {"look_at", TRIPLE, COORDINATE, "m", .help = "the point in the middle of the picture",
     .is_required = true},
    {"field_of_view", NUMBER, FROM(1, 170), "degrees",
     .help = "vertical angle of view, from the bottom to the top of the picture", .fallback = "40"},
};

const FloSceneTable flo_scene_camera_table = {"a camera", TABLE(camera_keys)};
